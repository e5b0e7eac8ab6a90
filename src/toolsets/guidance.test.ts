import { expect, it } from 'vitest'
import { promptFor } from './guidance.ts'
import { toolsets } from './index.ts'

it.each(Object.values(toolsets))(
  '[TS15] the section of $name is there only when the tool that it plans with is allowed',
  toolset => {
    const planning = toolset.tools.filter(({ created }) => created).map(({ name }) => name)
    const others = toolset.tools.filter(({ created }) => !created).map(({ name }) => name)
    expect(planning).not.toEqual([])
    expect(promptFor(toolset)).toBe(toolset.prompt)
    expect(promptFor(toolset, planning)).toBe(toolset.prompt)
    expect(promptFor(toolset, [])).toBe('')
    expect(promptFor(toolset, [...others, 'some_other_tool'])).toBe('')
  },
)
