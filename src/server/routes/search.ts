import * as z from 'zod'
import { MAX_RESULTS, SEARCH_KINDS } from '../../core/text/search.ts'
import { route, routes } from '../http/route.ts'
import * as s from '../http/schemas.ts'
import { shape } from '../http/openapi.ts'

export const searchRoutes = routes('Search', {
  search: route('get', '/api/search', 'agent', {
    summary: 'Conversations by their title, then tasks, then messages with these words, best first',
    query: z.object({ q: s.searchedText, kind: z.enum(SEARCH_KINDS).optional(), limit: s.limit(MAX_RESULTS, 20) }),
    answers: { 200: { description: 'The best results, their texts in parts', schema: shape('SearchAnswer') } },
    handle: async ({ query: { q, kind, limit }, caller }, { door }) => ({
      body: await door.search.all(caller.tenant, q, { limit, kind }),
    }),
  }),
})
