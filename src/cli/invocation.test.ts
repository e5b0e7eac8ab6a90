import { expect, it } from 'vitest'
import { invocation, serveCommand, urlCommand } from './invocation.ts'

it('in a clone the command is an npm script; elsewhere it names the file', () => {
  expect(invocation({ path: '', cwd: process.cwd() })).toBe('npm run -s runsheet --')
  const absolute = `${process.execPath} ${process.cwd()}/src/cli/main.ts`
  expect(invocation({ path: '', cwd: '/' })).toBe(absolute)
  expect(invocation({ path: '' })).toBe(absolute)
})

it('a hint names the data folder unless it is the default, quoted for a shell', () => {
  expect(urlCommand('runsheet', '.runsheet')).toBe('runsheet url')
  expect(urlCommand('runsheet', 'my plans')).toBe("runsheet url --data 'my plans'")
  expect(serveCommand('runsheet', "it's")).toBe("runsheet serve --data 'it'\\''s'")
})
