/** The script tag: defines `<passage-chat>` once, and puts one into the page if the tag names an API. */

import { set } from './dom.js';
import { PassageChat } from './element.js';
import { ofScript } from './options.js';
import { arrive } from './visit.js';

const NAME = 'passage-chat';

function begin() {
  // Only a classic script has it, and only while it runs.
  const script = /** @type {HTMLScriptElement | null} */ (
    document.currentScript ?? document.querySelector(`script[src*="${NAME}"]`)
  );
  const known = /** @type {typeof PassageChat | undefined} */ (customElements.get(NAME));
  // A router that replaces the page's content runs its scripts again: the tag that ran first is gone then.
  if (known && known.script?.isConnected !== false) {
    if (!known.hasWarned) {
      known.hasWarned = true;
      console.warn(`passage-chat: version ${PassageChat.version} was loaded, but version ${known.version} is already running and stays.`);
    }
    return;
  }
  const Widget = known ?? PassageChat;
  if (!known) customElements.define(NAME, Widget);
  Widget.script = script;
  const given = ofScript(script);
  const mount = () => {
    if (!known) arrive();
    if (!given.endpoint && (script?.hasAttribute('data-manual') || document.querySelector(NAME))) return;
    const element = (Widget.own ??= /** @type {PassageChat} */ (document.createElement(NAME)));
    set(element, given);
    if (!element.isConnected) document.body.append(element); // Without an address, it says so in the console.
  };
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', mount, { once: true });
  else mount();
}

if (typeof document !== 'undefined') begin();
