/** The tool of a review that asked for a plan. */
export const BY_PLAN = { toolset: 'runsheet', tool: 'plan' } as const
