/** Strips Markdown, for places that show a model's text as one plain text. */
export const plainMarkdown = (text: string): string =>
  text
    .replaceAll(FENCES, '')
    .replaceAll(RULES, '')
    .replaceAll(TABLE_ROWS, (_, cells: string) =>
      cells
        .split('|')
        .map(cell => cell.trim())
        .join(' · '),
    )
    .replaceAll(BLOCK_MARKS, '$1')
    .replaceAll(BOXES, '$1')
    .replaceAll(LINKS, '$1')
    .replaceAll(CODE, '$2')
    .replaceAll(EMPHASIS, '$1$3')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()

/** The same in one line: dots separate items, cells and paragraphs. */
export const plainLine = (text: string): string =>
  plainMarkdown(text)
    .split(PARTS)
    .map(part => part.replace(ITEM, '').replaceAll(/\s+/g, ' ').trim())
    .filter(part => part !== '')
    .reduce((line, part) => (/(?:^|[.:!?。：！？])$/.test(line) ? `${line} ${part}` : `${line} · ${part}`), '')
    .trim()

/** Paragraph breaks and starts of list items. */
const PARTS = /\n[ \t]*\n|\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)]) )/
const ITEM = /^\s*[-*+] /
const FENCES = /^ {0,3}(?:```|~~~).*\n?/gm
/** Horizontal rules, and the line below a table's head. */
const RULES = /^[ \t]*(?:\|[ \t]*)?:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)*(?:\|[ \t]*)?(?:\n|$)/gm
const TABLE_ROWS = /^[ \t]*\|(.+)\|[ \t]*$/gm
const BLOCK_MARKS = /^([ \t]*(?:[-*+] |\d{1,9}[.)] )?)(?:#{1,6} |> ?)/gm
const BOXES = /^([ \t]*(?:[-*+]|\d{1,9}[.)]) )\[[ xX]\] /gm
// Every quantifier is bounded, so that no text causes slow backtracking.
const LINKS = /!?\[([^\]\n]{0,500})\]\([^)\s]{0,2000}(?: "[^"\n]{0,500}")?\)/g
const CODE = /(`{1,3})([^`\n]{1,1000})\1/g
/** Only around words, not in `2*3*4` or `*.ts`. Underscores stay, because names contain them. */
const EMPHASIS = /(^|[^\w*~])(\*{1,3}|~~)(?=[\p{L}\p{N}"“'‘([])([^\n*~]{0,1000}[^\s*~])\2(?![\w*~])/gmu
