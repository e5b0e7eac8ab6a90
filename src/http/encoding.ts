import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const ENCODINGS = ['br', 'gzip'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** Higher levels take ten times as long and save 1 %. */
const BROTLI_QUALITY = 6

export function encodingFor(accepts = ''): Encoding | undefined {
  const weights = new Map(accepts.toLowerCase().split(',').map(weighted))
  return ENCODINGS.find(name => (weights.get(name) ?? weights.get('*') ?? 0) > 0)
}

export function compress(content: Uint8Array, encoding: Encoding): Uint8Array<ArrayBuffer> {
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
