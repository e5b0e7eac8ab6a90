let text = 'Runsheet'
let waiting = ''

/** The title of the window: what is shown and, in front of it, how many reviews wait anywhere. */
export function showTitle(title: string | null): void {
  text = title === null ? 'Runsheet' : `${title} · Runsheet`
  update()
}

export function showWaiting(count: string): void {
  waiting = count
  update()
}

function update(): void {
  document.title = waiting === '' ? text : `(${waiting}) ${text}`
}
