// Parts of a page, replaced as the server sends them.
const url = document.body.dataset.live
const liveness = document.getElementById('liveness')
const announcer = document.getElementById('announcer')

// A stream that says nothing for so long is stale; the server speaks more often.
const silenceMax = 6000
const announcementsEvery = 10_000
// From the first wait to the longest one, each twice the one before.
const waits = { first: 2000, longest: 60_000 }

// The only place where the page takes HTML: it comes from our own server, escaped there.
const policy = window.trustedTypes?.createPolicy('minilab', { createHTML: (html) => html })
  ?? { createHTML: (html) => html }

const shown = new Map()
const waiting = new Map()
let heard = Date.now()
let said = ''
let announcedAt = 0
let announcing = 0
let stream
let wait = waits.first
let hasEnded = false

const isBusy = (element) => element.matches(':hover') || element.contains(document.activeElement)

function show(element, html) {
  waiting.delete(element.id)
  if (shown.get(element.id) === html) return
  shown.set(element.id, html)
  const open = [...element.querySelectorAll('details')].map((details) => details.open)
  element.innerHTML = policy.createHTML(html)
  element.querySelectorAll('details').forEach((details, index) => { details.open = open[index] ?? false })
  announceSoon()
}

// A part that a person is about to press or read does not move away; it is replaced when they leave.
function take({ id, html }) {
  const element = document.getElementById(id)
  if (!element?.hasAttribute('data-part')) return
  if (isBusy(element) && shown.get(id) !== html) waiting.set(id, html)
  else show(element, html)
}

function release() {
  for (const [id, html] of waiting) {
    const element = document.getElementById(id)
    if (element && !isBusy(element)) show(element, html)
  }
}

function announceSoon() {
  if (announcing) return
  announcing = setTimeout(() => {
    announcing = 0
    const text = document.querySelector('[data-announce]')?.textContent.trim() ?? ''
    if (text === said) return
    said = text
    announcedAt = Date.now()
    announcer.textContent = text
  }, Math.max(500, announcedAt + announcementsEvery - Date.now()))
}

function hear() {
  heard = Date.now()
  liveness.textContent = 'Live'
  liveness.classList.remove('stale')
  document.body.classList.remove('stale-parts')
  wait = waits.first
}

// A session that is over leads to the page where one signs in, or is refused.
async function isSignedOut() {
  const cut = new AbortController()
  try {
    const answer = await fetch(url, { redirect: 'manual', signal: cut.signal })
    return answer.type === 'opaqueredirect' || answer.status === 401 || answer.status === 403
  } catch {
    return false // the server is away
  } finally {
    cut.abort()
  }
}

// A refusal ends an EventSource for good, and does not say its status.
async function listenAgain() {
  if (await isSignedOut()) {
    hasEnded = true
    liveness.textContent = 'Signed out: load the page again to sign in'
    liveness.classList.add('stale')
    document.body.classList.add('stale-parts')
    return
  }
  setTimeout(listen, wait)
  wait = Math.min(wait * 2, waits.longest)
}

function listen() {
  stream = new EventSource(url)
  stream.addEventListener('part', (event) => { hear(); take(JSON.parse(event.data)) })
  stream.addEventListener('alive', hear)
  stream.addEventListener('error', () => {
    if (stream.readyState === EventSource.CLOSED) listenAgain()
  })
}

if (url && liveness && announcer) {
  said = document.querySelector('[data-announce]')?.textContent.trim() ?? ''
  liveness.textContent = 'Connecting …'
  document.addEventListener('pointerout', () => setTimeout(release, 0))
  document.addEventListener('focusout', () => setTimeout(release, 0))
  setInterval(() => {
    release()
    const seconds = Math.round((Date.now() - heard) / 1000)
    if (hasEnded || seconds * 1000 < silenceMax) return
    liveness.textContent = `Stale since ${seconds} s: the server is silent`
    liveness.classList.add('stale')
    document.body.classList.add('stale-parts')
  }, 1000)
  addEventListener('pagehide', () => stream.close())
  addEventListener('pageshow', (event) => { if (event.persisted) listen() })
  listen()
}
