import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { quoteWords } from '../core/proof/command-line.ts'

const MAX_BYTES = 200_000
const MAX_COMMANDS = 20

export function commandsIn(folder: string): readonly string[] {
  const found = [...scriptsIn(folder), ...targetsIn(folder)]
  const isCheck = (command: string): boolean => /\b(test|check|lint|verify|typecheck|build)/i.test(command)
  return [...found.filter(isCheck), ...found.filter(command => !isCheck(command))].slice(0, MAX_COMMANDS)
}

function scriptsIn(folder: string): readonly string[] {
  try {
    const { scripts } = JSON.parse(textOf(join(folder, 'package.json'))) as { scripts?: Record<string, unknown> }
    return Object.keys(scripts ?? {})
      .filter(name => typeof scripts?.[name] === 'string' && /^[\w:.-]{1,64}$/.test(name))
      .map(name => quoteWords(name === 'test' ? ['npm', 'test'] : ['npm', 'run', name]))
  } catch {
    // Missing or unreadable: nothing to suggest.
    return []
  }
}

function targetsIn(folder: string): readonly string[] {
  try {
    const lines = textOf(join(folder, 'Makefile')).matchAll(/^([A-Za-z][\w.-]{0,63})\s*:(?!=)/gm)
    return [...new Set([...lines].map(([, target = '']) => quoteWords(['make', target])))]
  } catch {
    return []
  }
}

function textOf(path: string): string {
  const stats = statSync(path)
  if (!stats.isFile() || stats.size > MAX_BYTES) throw new Error('too large')
  return readFileSync(path, 'utf8')
}
