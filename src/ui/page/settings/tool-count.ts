import type { ToolsAnswer } from 'runsheet/client'
import type { ToolsStrings } from '../texts/english-tools.ts'

export function toolCount({ offered, servers }: ToolsAnswer, strings: ToolsStrings) {
  const left = servers.flatMap(({ tools }) => tools).filter(({ left_out }) => left_out).length
  return { isAll: left === 0, text: left === 0 ? strings.count(offered) : strings.countOf(offered, offered + left) }
}
