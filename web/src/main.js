/** The script tag: defines `<passage-chat>` once, and puts one into the page if the tag names an API. */

import { PassageChat } from './element.js';
import { ofScript } from './options.js';

const NAME = 'passage-chat';

function begin() {
  // Only a classic script has it, and only while it runs.
  const script = /** @type {HTMLScriptElement | null} */ (
    document.currentScript ?? document.querySelector(`script[src*="${NAME}"]`)
  );
  const known = /** @type {(typeof PassageChat & { hasWarned?: boolean }) | undefined} */ (customElements.get(NAME));
  if (known) {
    if (!known.hasWarned) {
      known.hasWarned = true;
      console.warn(`passage-chat: version ${PassageChat.version} was loaded, but version ${known.version} is already running and stays.`);
    }
    return;
  }
  customElements.define(NAME, PassageChat);
  const given = ofScript(script);
  const mount = () => {
    if (!given.endpoint && (script?.hasAttribute('data-manual') || document.querySelector(NAME))) return;
    const element = /** @type {PassageChat} */ (document.createElement(NAME));
    for (const [name, value] of Object.entries(given)) element.setAttribute(name, value);
    element.isAutomatic = true;
    document.body.append(element); // Without an address, it says so in the console.
  };
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', mount, { once: true });
  else mount();
}

if (typeof document !== 'undefined') begin();
