import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { git, hasGit } from '../../test/support/repository.ts'
import { scratchFolder } from '../../test/support/scratch.ts'
import { trackedIn } from './server/data-folder.ts'

it.runIf(hasGit)('[TG8] a `.git` that git does not take for a repository is none: one above it still tells', () => {
  const repository = realpathSync(scratchFolder())
  onTestFinished(() => rmSync(repository, { recursive: true }))
  const folder = join(repository, 'app')
  mkdirSync(join(folder, '.git'), { recursive: true })
  writeFileSync(join(folder, 'person-token'), 'x')
  const tracked = () => trackedIn(folder, ['person-token'], process.env)
  expect(tracked()).toBeUndefined()
  git(repository, 'init', '-q')
  git(repository, 'add', '-f', 'app/person-token')
  expect(tracked()).toEqual({ repository, files: ['app/person-token'] })
})
