/** The demo: a page of the site, the widget, and a panel that shows how the widget's answers came about. */

import { beginning, story } from './story.js'
import { listen } from './wire.js'

const site = document.documentElement.dataset.site ?? ''
/** @type {string[]} */
const questions = JSON.parse(document.documentElement.dataset.questions ?? '[]')
const place = /** @type {HTMLElement} */ (document.getElementById('story'))
const picker = /** @type {HTMLSelectElement} */ (document.getElementById('profile'))
const asked = new URLSearchParams(location.search)
const widget = /** @type {HTMLElement & { open(question?: string): void }} */ (document.createElement('passage-chat'))

/** A lighter shade behind the widget's dialog, so that the panel can be read beside it. */
const shade = new CSSStyleSheet()
shade.replaceSync('dialog::backdrop { background: rgb(16 20 24 / 18%) }')

/** @type {import('./story.js').Profile[]} */
let profiles = []
let standard = ''
/** @type {import('./wire.js').Exchange | null} */
let last = null

listen(site, {
  asked: () => place.setAttribute('aria-busy', 'true'),
  answered(exchange) {
    last = exchange
    show()
  },
  judged(helpful, counted) {
    const said = counted ? `Counted: ${helpful ? 'helpful' : 'not helpful'}.` : 'This deployment takes no feedback.'
    const line = Object.assign(document.createElement('p'), { className: 'judged', textContent: said })
    place.querySelector('.judged')?.remove()
    place.prepend(line)
  },
})

function show() {
  place.removeAttribute('aria-busy')
  const name = last?.profile ?? standard
  place.replaceChildren(last ? story(last, profiles.find(each => each.name === name)) : beginning(questions, ask))
}

const ask = (/** @type {string} */ question) => widget.open(question)

/** Keeps the question and the profile in the address, so that a link shows the same. @param {string} name @param {string} value */
function keep(name, value) {
  const url = new URL(location.href)
  value ? url.searchParams.set(name, value) : url.searchParams.delete(name)
  history.replaceState(history.state, '', url)
}

async function pick() {
  const answer = await (await fetch('/profiles')).json()
  profiles = answer.profiles
  standard = answer.default
  picker.replaceChildren(...profiles.map(({ name, contract }) =>
    new Option(name, name, name === standard, name === (asked.get('profile') ?? standard))))
  for (const option of picker.options) option.title = profiles.find(each => each.name === option.value)?.contract ?? ''
  picker.disabled = false
  if (picker.value !== standard) widget.setAttribute('profile', picker.value)
  picker.addEventListener('change', () => {
    keep('profile', picker.value === standard ? '' : picker.value)
    picker.value === standard ? widget.removeAttribute('profile') : widget.setAttribute('profile', picker.value)
    // The widget builds itself anew before it can be asked.
    if (last) setTimeout(() => ask(last?.question ?? ''))
  })
}

/** The page's theme: the system's, until the reader chooses one. */
function useTheme() {
  const root = document.documentElement
  const stored = localStorage.getItem('passage-demo-theme')
  const dark = () => root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
  if (stored) root.dataset.theme = stored
  document.getElementById('theme')?.addEventListener('click', () => {
    root.dataset.theme = dark() ? 'light' : 'dark'
    localStorage.setItem('passage-demo-theme', root.dataset.theme)
  })
}

/** On a phone, one of the two is shown. @param {string} name */
function view(name) {
  document.querySelector('.columns')?.setAttribute('data-view', name)
  for (const button of document.querySelectorAll('button[data-view]')) {
    button.setAttribute('aria-pressed', String(button.getAttribute('data-view') === name))
  }
  scrollTo({ top: 0 })
}

useTheme()
for (const button of document.querySelectorAll('[data-view][type=button]')) {
  button.addEventListener('click', () => view(/** @type {HTMLElement} */ (button).dataset.view ?? 'page'))
}
show()
await pick().catch(() => { picker.title = 'The API does not list its profiles.' })
for (const [name, value] of Object.entries({
  endpoint: location.origin, questions: questions.join('|'), timeout: '60',
})) widget.setAttribute(name, value)
document.body.append(widget)
await customElements.whenDefined('passage-chat')
widget.addEventListener('passage-open', () => {
  // The widget sets its own sheets whenever an attribute changes.
  const sheets = widget.shadowRoot?.adoptedStyleSheets
  if (sheets && !sheets.includes(shade)) sheets.push(shade)
})
widget.addEventListener('passage-navigate', () => view('page'))
widget.addEventListener('passage-close', () => {
  if (!last) return
  // Not before: a change of the address closes the widget.
  keep('q', last.question)
  if (matchMedia('(max-width: 900px)').matches) view('panel')
})
if (asked.get('q')) ask(asked.get('q') ?? '')
