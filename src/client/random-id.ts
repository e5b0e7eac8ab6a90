/** 128 random bits in hex. Unlike `crypto.randomUUID`, it also works on pages served over plain HTTP. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')
}
