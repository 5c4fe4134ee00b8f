/** Whether the page is dark, as its generator's theme switch says, else as the system says. Only reads the page. */

/** A word of a theme, alone: a class such as `dark-sidebar` says nothing about the page. */
const WORD = /^(?:theme-)?(?:(dark|slate|night|coal|navy|ayu|black|dim)|light|default|rust|white)(?:-mode|-theme)?$/i;
const KEYS = ['theme', 'mdColorScheme', 'bsTheme', 'colorMode', 'colorScheme'];
const system = () => matchMedia('(prefers-color-scheme: dark)');

/** @returns {boolean} */
function isDark() {
  const words = [document.body, document.documentElement].flatMap((root) => [...KEYS.map((key) => root.dataset[key] ?? ''), ...root.classList]);
  for (const word of words) {
    const found = WORD.exec(word);
    if (found) return !!found[1];
  }
  const scheme = getComputedStyle(document.documentElement).colorScheme;
  if (scheme === 'dark' || scheme === 'light') return scheme === 'dark';
  // VitePress marks its dark theme alone.
  if (document.querySelector('meta[name=generator][content^=VitePress]')) return false;
  return system().matches;
}

/**
 * Calls `apply` now and whenever the page's theme may change, until the signal aborts.
 * @param {(dark: boolean) => void} apply
 * @param {AbortSignal} signal
 */
export function follow(apply, signal) {
  const look = () => apply(isDark());
  const watch = new MutationObserver(look);
  for (const root of [document.documentElement, document.body]) watch.observe(root, { attributes: true });
  system().addEventListener('change', look, { signal });
  signal.addEventListener('abort', () => watch.disconnect());
  look();
}
