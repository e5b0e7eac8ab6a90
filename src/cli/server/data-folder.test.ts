import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { scratchFolder } from '../../../test/support/scratch.ts'
import { DataFolder } from './data-folder.ts'

function scratch(): string {
  const folder = scratchFolder()
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

const opened = (path: string): DataFolder => new DataFolder(path, {})

const modeOf = (path: string): number => statSync(path).mode & 0o777

it.each([0o000, 0o022, 0o777])('[TG9] with umask %o a new data folder and its tokens are for the owner only', mask => {
  const path = join(scratch(), 'new', 'data')
  const before = process.umask(mask)
  onTestFinished(() => void process.umask(before))
  const folder = opened(path)
  folder.tokens({})
  expect([modeOf(join(path, '..')), modeOf(path)]).toEqual([0o700, 0o700])
  expect([modeOf(join(path, 'person-token')), modeOf(join(path, 'agent-token'))]).toEqual([0o600, 0o600])
  expect(folder.warnings).toEqual([])
})

it('of a data folder that we make, git sees the task files and nothing else, whatever the repository ignores', () => {
  const repository = scratch()
  const git = (...args: string[]): string => execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' })
  git('init', '-q')
  writeFileSync(join(repository, '.gitignore'), '!.runsheet\n!*token\n')
  const { path, ...folder } = opened(join(repository, 'packages/a/.runsheet'))
  opened(path).tokens({})
  for (const name of [
    'runsheet.db',
    'hosts/1.json',
    'sandbox/a.js',
    '.agents/tasks/c1.json',
    '.agents/tasks/t/c2.json',
  ]) {
    mkdirSync(join(path, name, '..'), { recursive: true })
    writeFileSync(join(path, name), '')
  }
  git('add', '-A')
  const tasks = ['packages/a/.runsheet/.agents/tasks/c1.json', 'packages/a/.runsheet/.agents/tasks/t/c2.json']
  expect(git('ls-files').trim().split('\n')).toEqual(['.gitignore', ...tasks])
  expect(folder.warnings).toEqual([])
})

it('a folder that was there before, as a project with --data ., keeps its rules for git, or none', () => {
  const none = scratch()
  opened(none)
  expect(existsSync(join(none, '.gitignore'))).toBe(false)
  const own = scratch()
  writeFileSync(join(own, '.gitignore'), '*token\n')
  opened(own)
  expect(readFileSync(join(own, '.gitignore'), 'utf8')).toBe('*token\n')
})

it('what others can read is one line, with the command that mends it; not in a folder that is closed', () => {
  const path = join(scratch(), 'data')
  mkdirSync(path)
  writeFileSync(join(path, 'runsheet.db'), '')
  chmodSync(path, 0o755)
  chmodSync(join(path, 'runsheet.db'), 0o644)
  const line = `Runsheet: other users of this machine may read ${path}, ${path}/runsheet.db. Run: chmod go= ${path} ${path}/runsheet.db`
  expect(opened(path).warnings).toEqual([line])
  chmodSync(path, 0o700)
  expect(opened(path).warnings).toEqual([])
})

it('a token file with fewer than 32 characters is refused, with what to do', () => {
  const folder = opened(join(scratch(), 'data'))
  writeFileSync(join(folder.path, 'agent-token'), `${'x'.repeat(31)}\n`)
  expect(() => folder.tokens({})).toThrow(
    /^the token in .*agent-token is shorter than 32 characters\. Delete the file to get a new one\.$/,
  )
})

it('a token file that is a link, a folder or endless is refused, and its target left alone', () => {
  const path = scratch()
  const folder = opened(join(path, 'data'))
  const secret = join(path, 'secret')
  writeFileSync(secret, 'x'.repeat(40))
  chmodSync(secret, 0o644)
  const token = join(folder.path, 'person-token')
  symlinkSync(secret, token)
  expect(() => folder.tokens({})).toThrow(/^cannot use the token file .*person-token: it is a symbolic link\.$/)
  expect(modeOf(secret)).toBe(0o644)
  rmSync(token)
  mkdirSync(token)
  expect(() => folder.tokens({})).toThrow('it is not a regular file')
  rmSync(token, { recursive: true })
  writeFileSync(token, 'x'.repeat(5_000))
  expect(() => folder.tokens({})).toThrow('it is larger than 4096 bytes')
})
