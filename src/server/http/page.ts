import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { gzipSync } from 'node:zlib'
import { SAFE } from './replies.ts'

export interface PageFile {
  readonly content: Uint8Array<ArrayBuffer>
  /** Compresses on the first call. Undefined for images and fonts, which are compressed already. */
  readonly gzip: (() => Uint8Array<ArrayBuffer>) | undefined
  /** Changes with the content; part of the ETag. */
  readonly version: string
  readonly type: string
  /** True if the file name contains a content hash, so that caches may keep it forever. */
  readonly immutable: boolean
}
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

/** Paths that serve the page; the rest of its state is in the query. */
const VIEWS = ['/', '/reviews']

/** Images and fonts are already compressed. */
const COMPRESSIBLE = new Set(['.html', '.js', '.css', '.svg', '.json'])

/** Reads the built page once, so that requests never touch the disk. */
export function pageFrom(folder: string): Page {
  const files = new Map<string, PageFile>()
  for (const name of namesIn(folder)) {
    const extension = extname(name)
    const type = TYPES[extension]
    if (!type) continue
    const path = `/${name.split(sep).join('/')}`
    const content = new Uint8Array(readFileSync(join(folder, name)))
    files.set(path, {
      content,
      gzip: COMPRESSIBLE.has(extension) ? compressedOnce(content) : undefined,
      version: createHash('sha256').update(content).digest('base64url').slice(0, 22),
      type,
      immutable: path.startsWith('/assets/'),
    })
  }
  const start = files.get('/index.html')
  for (const path of VIEWS) if (start) files.set(path, start)
  return path => files.get(path)
}

export function pageReply(
  { content, gzip, version, type, immutable }: PageFile,
  header: (name: string) => string | undefined,
): Response {
  const compressed = gzip && ACCEPTS_GZIP.test(header('accept-encoding') ?? '') ? gzip() : undefined
  // Each encoding needs its own tag, or caches mix them up.
  const etag = `"${version}${compressed ? '-gzip' : ''}"`
  const headers = {
    ...SAFE,
    'cache-control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag,
    ...(gzip ? { vary: 'accept-encoding' } : {}),
  }
  const tags = (header('if-none-match') ?? '').split(',').map(tag => tag.trim().replace(/^W\//, ''))
  if (tags.some(tag => tag === etag || tag === '*')) return new Response(null, { status: 304, headers })
  const encoding = compressed ? { 'content-encoding': 'gzip' } : {}
  return new Response(compressed ?? content, { headers: { ...headers, 'content-type': type, ...encoding } })
}

function compressedOnce(content: Uint8Array): () => Uint8Array<ArrayBuffer> {
  let compressed: Uint8Array<ArrayBuffer> | undefined
  return () => (compressed ??= new Uint8Array(gzipSync(content)))
}

const ACCEPTS_GZIP = /(^|,)\s*(gzip|\*)\s*(?!\s*;\s*q=0(\.0*)?\s*(,|$))(;|,|$)/i

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
  } catch {
    // The page is not built: a source checkout without `npm start` serves HTTP only.
    return []
  }
}
