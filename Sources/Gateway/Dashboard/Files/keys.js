// Keyboard shortcuts: `/` searches, `g` and a letter opens a page, `j` and `k` select rows, `?` lists the shortcuts.
const stored = 'minilab.shortcuts'
const sequenceMax = 1500
let prefixAt = 0

function isOn() {
  try { return localStorage.getItem(stored) !== 'off' } catch { return true }
}

function remember(on) {
  try { localStorage.setItem(stored, on ? 'on' : 'off') } catch { /* a private window forgets */ }
}

const pages = [...document.querySelectorAll('nav a[data-letter]')]

function make(name, text, attributes = {}) {
  const element = document.createElement(name)
  if (text) element.textContent = text
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  return element
}

function helpDialog() {
  const dialog = make('dialog', '', { 'aria-labelledby': 'shortcuts-heading' })
  const list = make('dl', '', { class: 'shortcuts' })
  const rows = [
    ['/', 'Find'], ['j', 'Next row'], ['k', 'Row before'], ['?', 'This help'],
    ...pages.map((page) => [`g ${page.dataset.letter}`, page.textContent.trim()]),
  ]
  for (const [keys, words] of rows) {
    const term = make('dt')
    for (const key of keys.split(' ')) term.append(make('kbd', key), ' ')
    list.append(term, make('dd', words))
  }
  const choice = make('p', '', { class: 'check' })
  const box = make('input', '', { type: 'checkbox', id: 'shortcuts-on' })
  box.checked = isOn()
  box.addEventListener('change', () => remember(box.checked))
  choice.append(box, make('label', 'Shortcuts of one letter are on', { for: 'shortcuts-on' }))
  const close = make('form', '', { method: 'dialog', class: 'actions' })
  close.append(make('button', 'Close', { class: 'main' }))
  dialog.append(make('h2', 'Shortcuts', { id: 'shortcuts-heading' }), list, choice, close)
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}

function walk(step) {
  const rows = [...document.querySelectorAll('[data-row]')]
  const current = rows.findIndex((row) => row.contains(document.activeElement))
  const next = current < 0 ? (step > 0 ? 0 : rows.length - 1) : current + step
  rows[next]?.querySelector('a, button')?.focus()
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  if (event.target.closest('input, select, textarea, [contenteditable], dialog')) return
  if (!isOn()) return
  const isSecond = event.timeStamp - prefixAt < sequenceMax && prefixAt > 0
  prefixAt = 0
  if (isSecond) {
    const page = pages.find((link) => link.dataset.letter === event.key)
    if (page) { event.preventDefault(); page.click() }
    return
  }
  const field = document.getElementById('q') ?? document.getElementById('find')
  switch (event.key) {
    case '/': if (field) { event.preventDefault(); field.focus(); field.select() } break
    case 'g': prefixAt = event.timeStamp; break
    case 'j': walk(1); break
    case 'k': walk(-1); break
    case '?': helpDialog(); break
  }
}

const hint = document.getElementById('keys-hint')
if (hint) {
  document.addEventListener('keydown', press)
  const button = make('button', 'Shortcuts', { type: 'button', class: 'quiet' })
  button.addEventListener('click', helpDialog)
  hint.append(button)
}
