/** Escapes control, invisible and direction characters of a file's text or a path, for a terminal. */
export const visible = (text: string): string =>
  text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, char => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)
