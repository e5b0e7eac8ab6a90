/** Files are read and written whole on the event loop: this bounds how long that takes. */
export const MAX_BYTES = 8 * 2 ** 20
/** Parsing costs about a microsecond per value, however short. */
const MAX_VALUES = 100_000
/** Each level is indented when written. */
const MAX_DEPTH = 100

/**
 * Describes the limit that the JSON exceeds, if any. Counts the characters that begin, separate and end values, outside
 * of strings.
 */
export function exceededLimit(text: string): string | undefined {
  let values = 0
  let depth = 0
  let isString = false
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) isString = !isString
    else if (isString) at += char === BACKSLASH ? 1 : 0
    else if (char === COMMA) values += 1
    else if (char === ARRAY || char === OBJECT) {
      values += 1
      depth += 1
    } else if (char === ARRAY_END || char === OBJECT_END) depth -= 1
    if (values > MAX_VALUES) return '100,000 values'
    if (depth > MAX_DEPTH) return '100 levels of nesting'
  }
  return undefined
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const ARRAY = 0x5b
const ARRAY_END = 0x5d
const OBJECT = 0x7b
const OBJECT_END = 0x7d
