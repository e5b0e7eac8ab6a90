import type { Pages } from './pages.ts'
import {
  cellsIn,
  DATABASE_HEADER,
  headerOf,
  INDEX_INTERIOR,
  INDEX_LEAF,
  TABLE_INTERIOR,
  TABLE_LEAF,
} from './records.ts'

// Formats: https://sqlite.org/fileformat2.html, sections 1.5 (free pages) and 1.6 (pages of a tree).

export interface Tree {
  readonly pages: ReadonlySet<number>
  readonly isWhole: boolean
}

/** Finds the pages that SQLite would read for a table. */
export function treeOf(pages: Pages, table: string): Tree {
  const root = rootOf(pages, table)
  return root === undefined ? { pages: new Set(), isWhole: false } : walk(pages, root)
}

/** Unused pages: their content was deleted. */
export function freePages(pages: Pages): ReadonlySet<number> {
  const free = new Set<number>()
  const [first] = pages.imagesOf(1)
  let trunk = first && first.length >= DATABASE_HEADER ? first.readUInt32BE(32) : 0
  while (trunk !== 0 && !free.has(trunk)) {
    free.add(trunk)
    const [bytes] = pages.imagesOf(trunk)
    if (!bytes || bytes.length < 8) break
    const leaves = Math.min(bytes.readUInt32BE(4), Math.floor(bytes.length / 4) - 2)
    for (let leaf = 0; leaf < leaves; leaf += 1) free.add(bytes.readUInt32BE(8 + 4 * leaf))
    trunk = bytes.readUInt32BE(0)
  }
  return free
}

function rootOf(pages: Pages, table: string): number | undefined {
  for (const page of walk(pages, 1).pages) {
    for (const { values } of [...cellsIn(pages.newest(page), pages)].flat()) {
      const [type, name, , root] = values
      if (type === 'table' && name === table && typeof root === 'number') return root
    }
  }
  return undefined
}

function walk(pages: Pages, root: number): Tree {
  const seen = new Set<number>()
  const left = [root]
  let isWhole = true
  for (let page = left.pop(); page !== undefined; page = left.pop()) {
    const children = seen.has(page) ? undefined : childrenOf(pages, page)
    if (children) {
      seen.add(page)
      left.push(...children)
    } else isWhole = false
  }
  return { pages: seen, isWhole }
}

function childrenOf(pages: Pages, page: number): number[] | undefined {
  const { bytes } = pages.newest(page)
  const header = headerOf(page, bytes)
  if (!header) return undefined
  const { kind, cells, pointers } = header
  if (kind === TABLE_LEAF || kind === INDEX_LEAF) return []
  if (kind !== TABLE_INTERIOR && kind !== INDEX_INTERIOR) return undefined
  const children = [bytes.readUInt32BE(pointers - 4)]
  for (let cell = 0; cell < cells; cell += 1) {
    const pointer = pointers + 2 * cell
    const at = pointer + 2 <= bytes.length ? bytes.readUInt16BE(pointer) : bytes.length
    if (at + 4 > bytes.length) return undefined
    children.push(bytes.readUInt32BE(at))
  }
  return children
}
