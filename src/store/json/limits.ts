/** A file is read and written whole, on the event loop: this bounds how long that takes. */
export const MAX_BYTES = 8 * 2 ** 20
/** Parsing costs about a microsecond a value, however short it is. */
const MAX_VALUES = 100_000

/** The limit in words. */
export const MANY_VALUES = '100,000 values'

/** Whether JSON has too many values: counts what begins or separates them, outside of strings. */
export function hasManyValues(text: string): boolean {
  if (text.length <= MAX_VALUES) return false
  let values = 0
  let isString = false
  for (let at = 0; at < text.length && values <= MAX_VALUES; at += 1) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) isString = !isString
    else if (isString) at += char === BACKSLASH ? 1 : 0
    else if (char === COMMA || char === ARRAY || char === OBJECT) values += 1
  }
  return values > MAX_VALUES
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const ARRAY = 0x5b
const OBJECT = 0x7b
