// Asks for confirmation before a form is sent, and sends each form only once.
function ask(form, submitter) {
  const dialog = document.createElement('dialog')
  const heading = document.createElement('h2')
  heading.id = 'question'
  heading.textContent = form.dataset.confirm
  dialog.setAttribute('aria-labelledby', heading.id)
  const actions = document.createElement('form')
  actions.method = 'dialog'
  actions.className = 'actions'
  const yes = document.createElement('button')
  yes.value = 'yes'
  yes.className = submitter?.classList.contains('danger') ? 'danger' : 'main'
  yes.textContent = form.dataset.confirmAction ?? 'Yes'
  const no = document.createElement('button')
  no.value = 'no'
  no.textContent = 'Do nothing'
  no.autofocus = true
  actions.append(yes, no)
  dialog.append(heading, actions)
  dialog.addEventListener('close', () => {
    dialog.remove()
    submitter?.focus()
    if (dialog.returnValue !== 'yes') return
    form.dataset.confirmed = 'yes'
    form.requestSubmit(submitter)
  })
  document.body.append(dialog)
  dialog.showModal()
}

document.addEventListener('submit', (event) => {
  const form = event.target
  if (event.defaultPrevented || form.method !== 'post') return
  if (form.dataset.sent) { event.preventDefault(); return }
  if (form.dataset.confirm && !form.dataset.confirmed) {
    event.preventDefault()
    ask(form, event.submitter)
    return
  }
  form.dataset.sent = 'yes'
  // A disabled control is not sent with its form, so it is only marked as disabled.
  for (const button of form.querySelectorAll('button')) button.setAttribute('aria-disabled', 'true')
})

// A form may be sent again after the browser's back button.
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form')) {
    delete form.dataset.sent
    delete form.dataset.confirmed
    for (const button of form.querySelectorAll('button')) button.removeAttribute('aria-disabled')
  }
})
