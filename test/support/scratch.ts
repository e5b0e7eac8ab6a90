import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder of one test's own; the test removes it. */
export const scratchFolder = (): string => mkdtempSync(join(tmpdir(), 'runsheet-'))
