import { expect, it } from 'vitest'
import { promptFor } from './guidance.ts'
import { toolsets } from './index.ts'

it.each(Object.values(toolsets))(
  'the section of $name is there only when the tool that it plans with is allowed',
  toolset => {
    const planning = toolset.tools.filter(({ created }) => created).map(({ name }) => name)
    const others = toolset.tools.filter(({ created }) => !created).map(({ name }) => name)
    expect(planning).not.toEqual([])
    expect(promptFor(toolset, { isRun: true })).toMatch(/^## /)
    expect(promptFor(toolset, { isRun: true, allowed: planning })).toMatch(/^## /)
    expect(promptFor(toolset, { allowed: [] })).toBe('')
    expect(promptFor(toolset, { allowed: [...others, 'some_other_tool'] })).toBe('')
  },
)

it.each(Object.values(toolsets))('where no assessor is, the section of $name promises none', toolset => {
  expect(promptFor(toolset)).not.toMatch(/judged|NEXT_TODO|assessor/)
})
