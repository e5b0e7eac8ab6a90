import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { scratchFolder } from '../../test/support/scratch.ts'
import { DataFolder } from './data-folder.ts'

function newFolder(): DataFolder {
  const scratch = scratchFolder()
  onTestFinished(() => rmSync(scratch, { recursive: true }))
  return new DataFolder(join(scratch, 'new', 'data'))
}

it('[AU8] a new data folder is for its owner only', () => {
  expect(statSync(newFolder().path).mode & 0o777).toBe(0o700)
})

it('[CL4] a truncated token file is refused, with what to do', () => {
  const folder = newFolder()
  writeFileSync(join(folder.path, 'agent-token'), 'short\n')
  expect(() => folder.tokens({})).toThrow(
    /^the token in .*agent-token is too short\. Delete the file to get a new one\.$/,
  )
})
