let text = 'Runsheet'
let waiting = ''

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
