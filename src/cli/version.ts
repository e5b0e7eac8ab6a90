import { readFileSync } from 'node:fs'

/** Of the package, wherever it runs from. */
export const version: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version

/** How to call us again, from where we were called: a clone, or an installed package. */
export const self = import.meta.url.endsWith('.ts') ? 'npm run -s runsheet --' : 'npx runsheet'

/** A word for a shell. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
