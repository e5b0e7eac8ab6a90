import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'

export interface PageFile {
  readonly content: Uint8Array<ArrayBuffer>
  readonly type: string
  /** Its name changes with its content, so caches may keep it for ever. */
  readonly immutable: boolean
}
/** Finds a file of the page by its path. */
export type Page = (path: string) => PageFile | undefined

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
}

/** The paths of the page itself; everything else it shows is in the query. */
const VIEWS = ['/', '/reviews']

/** The built page, read once, so that no request reaches the disk. */
export function pageFrom(folder: string): Page {
  const files = new Map<string, PageFile>()
  for (const name of namesIn(folder)) {
    const type = TYPES[extname(name)]
    if (!type) continue
    const path = `/${name.split(sep).join('/')}`
    files.set(path, {
      content: new Uint8Array(readFileSync(join(folder, name))),
      type,
      immutable: path.startsWith('/assets/'),
    })
  }
  const start = files.get('/index.html')
  for (const path of VIEWS) if (start) files.set(path, start)
  return path => files.get(path)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
  } catch {
    // Not built: from source without `npm start` there is HTTP, but no page.
    return []
  }
}
