interface Style {
  readonly color?: string | undefined
  readonly background?: string | undefined
  readonly bold?: boolean
  readonly dim?: boolean
  readonly italic?: boolean
  readonly underline?: boolean
  readonly inverse?: boolean
}
interface Run {
  readonly text: string
  readonly column: number
  readonly style: Style
}

const CELL = { width: 8.4, height: 18 }
const MARGIN = 14
const COLORS = { text: '#d4d4d4', page: '#1e1e1e' }
const BASIC = ['#3b3b3b', '#f14c4c', '#23d18b', '#e5e510', '#3b8eea', '#d670d6', '#29b8db', '#e5e5e5']
const BRIGHT = ['#767676', '#ff6b6b', '#4ee6a4', '#f5f543', '#6cb6ff', '#e69be6', '#5cd6f0', '#ffffff']

export function terminalSvg(screen: string): string {
  const lines = screen.trimEnd().split('\n').map(runsOf)
  const columns = Math.max(...lines.map(endOf))
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN)
  const height = lines.length * CELL.height + 2 * MARGIN
  const drawn = lines.flatMap((runs, row) => runs.map(run => drawRun(run, row)))
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<rect width="${width}" height="${height}" rx="8" fill="${COLORS.page}"/>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" fill="${COLORS.text}">
${drawn.filter(Boolean).join('\n')}
</g>
</svg>
`
}

const endOf = (runs: readonly Run[]): number => {
  const last = runs.findLast(({ text, style }) => text.trim() !== '' || backgroundOf(style) !== undefined)
  return last ? last.column + lengthOf(last.text) : 0
}

function runsOf(line: string): Run[] {
  const runs: Run[] = []
  let style: Style = {}
  let column = 0
  // Drop hyperlinks (OSC 8).
  const plain = line.replaceAll(/\p{Cc}\]8;\P{Cc}*\p{Cc}\\?/gu, '')
  for (const part of plain.split(/(\p{Cc}\[[0-9;:]*m)/u)) {
    const codes = /^\p{Cc}\[([0-9;:]*)m$/u.exec(part)?.[1]
    if (codes !== undefined) style = styled(style, codes.split(/[;:]/).map(Number))
    else if (part !== '') {
      runs.push({ text: part, column, style })
      column += lengthOf(part)
    }
  }
  return runs
}

function styled(style: Style, codes: readonly number[]): Style {
  const [code = 0, ...rest] = codes
  if (codes.length === 0) return style
  if (code === 38 || code === 48) {
    const [color, used] = extended(rest)
    return styled({ ...style, [code === 38 ? 'color' : 'background']: color }, rest.slice(used))
  }
  return styled(simple(style, code), rest)
}

function simple(style: Style, code: number): Style {
  if (code === 0) return {}
  if (code === 1) return { ...style, bold: true }
  if (code === 2) return { ...style, dim: true }
  if (code === 3) return { ...style, italic: true }
  if (code === 4) return { ...style, underline: true }
  if (code === 7) return { ...style, inverse: true }
  if (code === 22) return { ...style, bold: false, dim: false }
  if (code === 23) return { ...style, italic: false }
  if (code === 24) return { ...style, underline: false }
  if (code === 27) return { ...style, inverse: false }
  if (code === 39) return { ...style, color: undefined }
  if (code === 49) return { ...style, background: undefined }
  if (code >= 30 && code < 38) return { ...style, color: BASIC[code - 30] }
  if (code >= 40 && code < 48) return { ...style, background: BASIC[code - 40] }
  if (code >= 90 && code < 98) return { ...style, color: BRIGHT[code - 90] }
  if (code >= 100 && code < 108) return { ...style, background: BRIGHT[code - 100] }
  return style
}

/** Parses an indexed (`5;n`) or RGB (`2;r;g;b`) colour; also returns how many codes it consumed. */
function extended([kind, ...rest]: readonly number[]): readonly [string | undefined, number] {
  if (kind === 5) return [indexed(rest[0] ?? 0), 2]
  if (kind === 2) return [hex(rest.slice(0, 3)), 4]
  return [undefined, 1]
}

function indexed(index: number): string | undefined {
  if (index < 8) return BASIC[index]
  if (index < 16) return BRIGHT[index - 8]
  if (index >= 232) return hex(Array.from({ length: 3 }, () => 8 + (index - 232) * 10))
  const cube = index - 16
  return hex(
    [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level => (level === 0 ? 0 : 55 + level * 40)),
  )
}

const hex = (parts: readonly number[]): string => `#${parts.map(part => part.toString(16).padStart(2, '0')).join('')}`

const backgroundOf = ({ inverse, color, background }: Style): string | undefined =>
  inverse ? (color ?? COLORS.text) : background

function drawRun({ text, column, style }: Run, row: number): string {
  const cells = lengthOf(text)
  const x = round(MARGIN + column * CELL.width)
  const y = MARGIN + row * CELL.height
  const length = round(cells * CELL.width)
  const background = backgroundOf(style)
  const box = background
    ? `<rect x="${x}" y="${y}" width="${length}" height="${CELL.height}" fill="${background}"/>`
    : ''
  if (text.trim() === '') return box
  const color = style.inverse ? (style.background ?? COLORS.page) : style.color
  const looks = [
    ...(color ? [`fill="${color}"`] : []),
    ...(style.bold ? ['font-weight="bold"'] : []),
    ...(style.dim ? ['opacity="0.6"'] : []),
    ...(style.italic ? ['font-style="italic"'] : []),
    ...(style.underline ? ['text-decoration="underline"'] : []),
  ]
  // A fixed length keeps columns aligned in any font.
  const attributes = [`x="${x}"`, `y="${y + 13}"`, `textLength="${length}"`, 'xml:space="preserve"', ...looks].join(' ')
  return `${box}<text ${attributes}>${escaped(text)}</text>`
}

const lengthOf = (text: string): number => [...text].length
const round = (value: number): number => Math.round(value * 10) / 10
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
