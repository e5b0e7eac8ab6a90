/** Markdown as the words that a person reads: models write it where a line of text is shown. */
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

/** The same in one line: items, cells and paragraphs are separated by dots. */
export const plainLine = (text: string): string =>
  plainMarkdown(text)
    .split(PARTS)
    .map(part => part.replace(ITEM, '').replaceAll(/\s+/g, ' ').trim())
    .filter(part => part !== '')
    .reduce((line, part) => (/(?:^|[.:!?。：！？])$/.test(line) ? `${line} ${part}` : `${line} · ${part}`), '')
    .trim()

/** Between paragraphs, and before the items of a list. */
const PARTS = /\n[ \t]*\n|\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)]) )/
const ITEM = /^\s*[-*+] /
/** The lines around code. */
const FENCES = /^ {0,3}(?:```|~~~).*\n?/gm
/** Lines between parts, and between the head and the body of a table. */
const RULES = /^[ \t]*(?:\|[ \t]*)?:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)*(?:\|[ \t]*)?(?:\n|$)/gm
const TABLE_ROWS = /^[ \t]*\|(.+)\|[ \t]*$/gm
/** Of headings and quotations. */
const BLOCK_MARKS = /^([ \t]*(?:[-*+] |\d{1,9}[.)] )?)(?:#{1,6} |> ?)/gm
/** Of the tasks in a list. */
const BOXES = /^([ \t]*(?:[-*+]|\d{1,9}[.)]) )\[[ xX]\] /gm
// Each is bounded, so that no text takes long.
const LINKS = /!?\[([^\]\n]{0,500})\]\([^)\s]{0,2000}(?: "[^"\n]{0,500}")?\)/g
const CODE = /(`{1,3})([^`\n]{1,1000})\1/g
/** Around words only: not in `2*3*4` or `*.ts`. Names have underscores, so these stay. */
const EMPHASIS = /(^|[^\w*~])(\*{1,3}|~~)(?=[\p{L}\p{N}"“'‘([])([^\n*~]{0,1000}[^\s*~])\2(?![\w*~])/gmu
