/**
 * Removes invisible characters: a model would read them, but the person who approves the text does not see them. Emoji
 * and scripts keep those they need.
 */
export const withoutHidden = (text: string): string => (HAS_HIDDEN.test(text) ? text.replace(HIDDEN, '$1') : text)

const JOINED = String.raw`(?=[\p{L}\p{M}])(?!\p{DI})[\p{scx=Arab}\p{scx=Syrc}\p{scx=Nkoo}\p{scx=Mong}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}]`

/** Invisible characters that are needed: one at a time, after the character that uses it. */
const NEEDED = [
  // The flags of England, Scotland and Wales. Others show as a black flag.
  String.raw`\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}`,
  String.raw`(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]`,
  String.raw`(?<=[0-9#*])\ufe0f(?=\u20e3)`,
  String.raw`(?<=\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d(?=\p{Extended_Pictographic})`,
  String.raw`(?<=${JOINED})[\u200c\u200d](?=${JOINED})`,
  // Viramas of Indic scripts: some letters end with them and a joiner.
  String.raw`(?<=[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca])\u200d`,
  String.raw`(?<=(?=\p{L})\p{scx=Mong})[\u180b-\u180f]`,
  // Direction marks at the end of a right-to-left word.
  String.raw`(?<=(?=[\p{L}\p{M}\p{N}])(?!\p{DI})[\p{scx=Hebr}\p{scx=Arab}\p{scx=Syrc}\p{scx=Thaa}][ \p{P}]?)[\u061c\u200e\u200f]`,
]
const HAS_HIDDEN = /[\p{DI}\ufff9-\ufffb]/u
const HIDDEN = new RegExp(`(${NEEDED.join('|')})|${HAS_HIDDEN.source}`, 'gu')
