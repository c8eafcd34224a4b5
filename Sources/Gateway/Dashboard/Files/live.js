// Replaces fragments of a page when the server sends new ones.
const url = document.body.dataset.live
const liveness = document.getElementById('liveness')
const announcer = document.getElementById('announcer')

// A stream without any message for this long is stale. The server sends messages more often.
const silenceMax = 6000
const announcementsEvery = 10_000
// Waits before a new connection: from the first to the longest, doubled each time.
const waits = { first: 2000, longest: 60_000 }

// The only place where the page inserts HTML. The HTML comes from our own server, which escapes it.
const policy = window.trustedTypes?.createPolicy('minilab', { createHTML: (html) => html })
  ?? { createHTML: (html) => html }

const shown = new Map()
const waiting = new Map()
let heardAt = Date.now()
let announced = ''
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

// A fragment under the pointer or with the focus is replaced only when the pointer and the focus leave it.
function receive({ id, html }) {
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
    if (text === announced) return
    announced = text
    announcedAt = Date.now()
    announcer.textContent = text
  }, Math.max(500, announcedAt + announcementsEvery - Date.now()))
}

function markLive() {
  heardAt = Date.now()
  liveness.textContent = 'Live'
  liveness.classList.remove('stale')
  document.body.classList.remove('stale-parts')
  wait = waits.first
}

// An expired session leads to the sign-in page, or to an error page.
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

// An error status ends an EventSource for good, and its status is not available.
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
  stream.addEventListener('part', (event) => { markLive(); receive(JSON.parse(event.data)) })
  stream.addEventListener('alive', markLive)
  stream.addEventListener('error', () => {
    if (stream.readyState === EventSource.CLOSED) listenAgain()
  })
}

if (url && liveness && announcer) {
  announced = document.querySelector('[data-announce]')?.textContent.trim() ?? ''
  liveness.textContent = 'Connecting …'
  document.addEventListener('pointerout', () => setTimeout(release, 0))
  document.addEventListener('focusout', () => setTimeout(release, 0))
  setInterval(() => {
    release()
    const seconds = Math.round((Date.now() - heardAt) / 1000)
    if (hasEnded || seconds * 1000 < silenceMax) return
    liveness.textContent = `Stale since ${seconds} s: the server is silent`
    liveness.classList.add('stale')
    document.body.classList.add('stale-parts')
  }, 1000)
  addEventListener('pagehide', () => stream.close())
  addEventListener('pageshow', (event) => { if (event.persisted) listen() })
  listen()
}
