import { join } from 'node:path'
import { readRegularFile, replacePrivateFile } from '../store/private-file.ts'

export const DEFAULT_PORT = 4747

/** The port to try first: the one that setup fixed, or the default. Browsers are signed in to one port only. */
export const usualPort = (data: string): number => fixedPort(data) ?? DEFAULT_PORT

export function fixedPort(data: string): number | undefined {
  try {
    const text = readRegularFile(portFile(data), { maxBytes: 16, follow: false }).toString('utf8').trim()
    const port = Number(text)
    return /^\d+$/.test(text) && port > 0 && port <= 65_535 ? port : undefined
  } catch {
    return undefined
  }
}

export const fixPort = (data: string, port: number): void => replacePrivateFile(portFile(data), `${port}\n`)

const portFile = (data: string): string => join(data, 'port')
