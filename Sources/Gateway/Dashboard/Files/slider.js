// Shows two pictures, one above the other, divided at the position of a slider.
function slide(box) {
  const [before, after] = box.querySelectorAll('figure')
  if (!before || !after) return
  const seam = document.createElement('div')
  seam.className = 'seam'
  seam.setAttribute('aria-hidden', 'true')
  const slider = document.createElement('input')
  slider.type = 'range'
  slider.className = 'slider'
  slider.min = '0'
  slider.max = '100'
  slider.value = '50'
  slider.setAttribute('aria-label', 'How much of the picture shows the version before')
  const move = () => {
    // The Content-Security-Policy forbids style attributes in HTML, but not styles that a script sets.
    box.style.setProperty('--at', `${slider.value}%`)
    slider.setAttribute('aria-valuetext', `${slider.value} % before, ${100 - slider.value} % after`)
  }
  slider.addEventListener('input', move)
  slider.addEventListener('focus', () => seam.classList.add('focused'))
  slider.addEventListener('blur', () => seam.classList.remove('focused'))
  move()
  box.append(seam, slider)
  box.classList.add('slides')
}

document.querySelectorAll('[data-compare]').forEach(slide)

// Shows a version when it is selected. Without scripts, a button shows it.
document.querySelectorAll('form[data-submit-on-change]').forEach((form) => {
  form.addEventListener('change', () => form.requestSubmit())
})
