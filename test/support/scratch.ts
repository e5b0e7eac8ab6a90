import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder for one test, which removes it. */
export const scratchFolder = (): string => mkdtempSync(join(tmpdir(), 'runsheet-'))
