/** A name of its own, also where the page is no secure context and `randomUUID` is missing. */
export function newName(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')
}
