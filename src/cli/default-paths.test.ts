import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { projectData } from './default-paths.ts'

function tree(...folders: readonly string[]): string {
  const root = mkdtempSync(join(tmpdir(), 'runsheet-project-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const folder of folders) {
    mkdirSync(join(root, folder), { recursive: true })
    if (folder.endsWith('.git')) repositoryAt(join(root, folder))
  }
  return root
}

function repositoryAt(folder: string): void {
  for (const name of ['objects', 'refs']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n')
}

it('a host in a subfolder uses the data folder of its project', () => {
  const root = tree('app/.git', 'app/.runsheet', 'app/packages/a/src', 'app/packages/b/.runsheet', '.runsheet')
  expect(projectData(join(root, 'app'))).toBe(join(root, 'app/.runsheet'))
  expect(projectData(join(root, 'app/packages/a/src'))).toBe(join(root, 'app/.runsheet'))
  expect(projectData(join(root, 'app/packages/b'))).toBe(join(root, 'app/packages/b/.runsheet'))
})

it('it looks for one no further than the repository, and not at all without one', () => {
  const root = tree('.runsheet', 'app/.git', 'app/src', 'plain/src')
  expect(projectData(join(root, 'app/src'))).toBe(join(root, 'app/src/.runsheet'))
  expect(projectData(join(root, 'plain/src'))).toBe(join(root, 'plain/src/.runsheet'))
})

it("the user's own is not a project's, even where the home folder is a repository", () => {
  const root = tree('.git', '.runsheet', 'app')
  expect(projectData(join(root, 'app'), root)).toBe(join(root, 'app/.runsheet'))
  expect(projectData(root, root)).toBe(join(root, '.runsheet'))
})

it('a `.git` that git does not take for a repository is none; a file that leads to one is', () => {
  const root = tree('.git', '.runsheet', 'app/src')
  mkdirSync(join(root, 'app/.git'))
  expect(projectData(join(root, 'app/src'))).toBe(join(root, '.runsheet'))
  rmSync(join(root, 'app/.git'), { recursive: true })
  writeFileSync(join(root, 'app/.git'), 'gitdir: ../.git/worktrees/app\n')
  expect(projectData(join(root, 'app/src'))).toBe(join(root, 'app/src/.runsheet'))
})
