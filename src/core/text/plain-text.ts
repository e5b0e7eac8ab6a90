/** Removes what a terminal would obey: escape sequences, control characters and direction changes. */
export const plainText = (text: string): string =>
  text
    .replaceAll(ESCAPES, '')
    .replaceAll(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll(CONTROLS, '')

const [ESC, BEL, CSI] = ['\u001b', '\u0007', '\u009b']
/**
 * Titles and links; colours and cursor movements; all others. Linear, unlike Node's own pattern: no match runs past an
 * escape.
 */
const ESCAPES = new RegExp(
  [
    `${ESC}[\\]PX^_][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)`,
    `(?:${ESC}\\[|${CSI})[0-?]*[ -/]*[@-~]`,
    `${ESC}[ -/]*[0-~]`,
  ].join('|'),
  'g',
)

const CONTROLS = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu
