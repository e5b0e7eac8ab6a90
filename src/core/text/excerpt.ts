/** Keeps head and tail of a long text and says how much is left out. Errors are often at the end. */
export function excerpt(text: string, limit: number): string {
  if (text.length <= limit) return text
  const head = Math.ceil(limit / 2)
  const tail = text.length - limit + head
  const left = `[${text.length - limit} characters left out]`
  return `${text.slice(0, head).toWellFormed()}\n${left}\n${text.slice(tail).toWellFormed()}`
}
