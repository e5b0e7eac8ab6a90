import { readFileSync } from 'node:fs'

/** The package version, from source or installed. */
export const version: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
