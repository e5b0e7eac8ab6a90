import * as z from 'zod'
import type { Origin } from '../domain/origin.ts'
import { exact } from './exact.ts'
import { described } from './schemas.ts'

const origin = exact<Origin>()(
  z
    .object({
      actor: described(z.enum(['person', 'agent', 'program', 'system']), 'whose right it was made with'),
      edge: described(
        z.enum(['page', 'http', 'mcp', 'mcp_form', 'mcp_link', 'terminal', 'library', 'turn', 'file', 'system']),
        'the way in',
      ),
      credential: described(
        z.string(),
        'the name of the credential: `person`, `page` or `agent` for our own tokens, else what `authenticate` returned',
      ).exactOptional(),
      address: described(z.string(), 'the address of the other machine').exactOptional(),
      claimed: described(
        z.object({ client: z.string() }),
        'what the client says about itself, unchecked',
      ).exactOptional(),
    })
    .meta({ id: 'Origin', description: 'Who made a decision, and from where' }),
)
/** The field of events that may record a decision. */
export const decided = {
  origin: described(origin, 'who decided, and from where; absent if it is no decision').exactOptional(),
}
