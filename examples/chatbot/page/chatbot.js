// The chatbot's page. It asks for the passages and for the answer at once, and shows each when it comes.

const { endpoint } = document.currentScript.dataset
const form = document.querySelector('form')
const said = document.querySelector('#status')
const turns = document.querySelector('#turns')
const BOLD = /(^|[\s(])\*\*(\S[^*\n]*)\*\*(?!\w)/g // a passage is Markdown; here it is shown as text
let turn = 0
let asking = new AbortController()

form.addEventListener('submit', (event) => {
  event.preventDefault()
  const question = form.question.value.trim()
  if (question) ask(question)
})

async function ask (question) {
  asking.abort()
  asking = new AbortController()
  const { signal } = asking
  const shown = article(question, ++turn)
  said.textContent = 'Searching …'
  const passages = post('passages', question, signal)
  const answer = post('answer', question, signal)
  answer.catch(() => {}) // it is awaited below, perhaps after it failed
  try {
    shown.show(await passages)
    said.textContent = 'These passages were found. The answer is being written …'
    shown.show(await answer)
    said.textContent = ''
  } catch (error) {
    if (signal.aborted) shown.remove()
    else said.textContent = error.message
  }
}

/** The function's JSON. Raises an Error whose message is a sentence for the reader. */
async function post (path, question, signal) {
  let response
  try {
    const headers = { 'Content-Type': 'application/json' }
    response = await fetch(`${endpoint}/${path}`, { method: 'POST', headers, body: JSON.stringify({ question }), signal })
  } catch {
    throw new Error('The service cannot be reached. Are you online?')
  }
  const body = await response.json().catch(() => ({}))
  if (response.ok) return body
  const busy = response.status === 429 ? 'Too many questions at the moment. Try again in a minute.' : 'The service does not work at the moment.'
  throw new Error(body.error ?? busy)
}

/** A question's place on the page, above those before it. */
function article (question, number) {
  const [answer, notes, list] = [element('div'), element('div'), element('ol')]
  const whole = element('article', {}, element('h2', {}, question), answer, notes, list)
  turns.prepend(whole)
  return {
    remove: () => whole.remove(),
    show (found) {
      answer.replaceChildren(...(found.answer ? [paragraph(found.answer, number)] : []))
      notes.replaceChildren(...found.notes.map((note) => element('p', { className: 'soft' }, note)))
      list.replaceChildren(...found.passages.map((passage, index) => entry(passage, `passage-${number}-${index + 1}`)))
    }
  }
}

function paragraph (pieces, number) {
  const parts = pieces.flatMap(({ text, passages }) => [text, ...passages.map((passage) =>
    element('a', { className: 'cite', href: `#passage-${number}-${passage}`, ariaLabel: `Passage ${passage}` }, `${passage}`))])
  return element('p', { className: 'answer' }, ...parts)
}

function entry ({ title, section, source_url: url, text }, id) {
  const name = [title, section].filter((part, index, all) => part && all.indexOf(part) === index).join(' › ') || url
  const link = /^https?:\/\//i.test(url) ? element('a', { href: url }, name) : element('span', {}, name)
  return element('li', { id, tabIndex: -1 }, link, element('p', { className: 'text' }, text.replace(BOLD, '$1$2')))
}

function element (name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}
