/** Text from a file or a path, for a terminal: control, invisible and direction characters are escaped. */
export const visible = (text: string): string =>
  text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, char => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)
