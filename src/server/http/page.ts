import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { SAFE } from './replies.ts'

export interface PageFile {
  /** Compresses on the first request, then caches. */
  readonly content: (encoding: Encoding | undefined) => Uint8Array<ArrayBuffer>
  /** Changes with the content; part of the ETag. */
  readonly version: string
  readonly type: string
  readonly isCompressible: boolean
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
      content: compressedOnce(content),
      version: createHash('sha256').update(content).digest('base64url').slice(0, 22),
      type,
      isCompressible: COMPRESSIBLE.has(extension),
      immutable: path.startsWith('/assets/'),
    })
  }
  const start = files.get('/index.html')
  for (const path of VIEWS) if (start) files.set(path, start)
  return path => files.get(path)
}

export function pageReply(file: PageFile, header: (name: string) => string | undefined): Response {
  const encoding = file.isCompressible ? encodingFor(header('accept-encoding')) : undefined
  // Each encoding needs its own tag, or caches mix them up.
  const etag = `"${file.version}${encoding ? `-${encoding}` : ''}"`
  const headers = {
    ...SAFE,
    'cache-control': file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag,
    ...(file.isCompressible ? { vary: 'accept-encoding' } : {}),
  }
  if (names(header('if-none-match'), etag)) return new Response(null, { status: 304, headers })
  return new Response(file.content(encoding), {
    headers: { ...headers, 'content-type': file.type, ...(encoding ? { 'content-encoding': encoding } : {}) },
  })
}

const names = (tags = '', etag: string): boolean =>
  tags.split(',').some(tag => ['*', etag, `W/${etag}`].includes(tag.trim()))

function compressedOnce(content: Uint8Array<ArrayBuffer>): PageFile['content'] {
  const forms = new Map<Encoding | undefined, Uint8Array<ArrayBuffer>>([[undefined, content]])
  return encoding => {
    const form = forms.get(encoding) ?? (encoding ? compress(content, encoding) : content)
    forms.set(encoding, form)
    return form
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
  } catch {
    // The page is not built: a source checkout without `npm start` serves HTTP only.
    return []
  }
}

const ENCODINGS = ['br', 'gzip'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** Higher levels take ten times as long and save 1 %. */
const BROTLI_QUALITY = 6

function encodingFor(accepts = ''): Encoding | undefined {
  const weights = new Map(accepts.toLowerCase().split(',').map(weighted))
  return ENCODINGS.find(name => (weights.get(name) ?? weights.get('*') ?? 0) > 0)
}

function compress(content: Uint8Array, encoding: Encoding): Uint8Array<ArrayBuffer> {
  const compressed =
    encoding === 'gzip'
      ? gzipSync(content)
      : brotliCompressSync(content, {
          params: {
            [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
            [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
          },
        })
  return new Uint8Array(compressed)
}

/** Parses "gzip;q=0.5" into gzip and 0.5. */
function weighted(item: string): [name: string, weight: number] {
  const [name = '', ...parameters] = item.split(';').map(part => part.trim())
  const weight = parameters.find(parameter => parameter.startsWith('q='))
  return [name, weight === undefined ? 1 : Number(weight.slice(2))]
}
