import * as z from 'zod'
import { Refusal } from '../../domain/errors.ts'
import type { Json } from '../../domain/event.ts'
import { invalidField } from '../../domain/fields.ts'
import { type Template, templateOf } from '../../domain/template.ts'
import * as a from '../answer-schemas.ts'
import { notFound } from '../errors.ts'
import { route } from '../route.ts'
import * as s from '../schemas.ts'

const named = z.object({ name: s.reference })

export const templateRoutes = [
  route({
    method: 'get',
    path: '/api/task-manager/templates',
    operationId: 'listTemplates',
    tag: 'Templates',
    role: 'agent',
    summary: 'Saved batches',
    answers: { 200: { description: 'By name', schema: a.templates } },
    handle: async ({ who }, { runsheet }) => {
      const saved = await runsheet.store.templates.list(who.tenant)
      return { body: { templates: saved.map(({ body }) => body) } }
    },
  }),
  route({
    method: 'get',
    path: '/api/task-manager/templates/:name',
    operationId: 'getTemplate',
    tag: 'Templates',
    role: 'agent',
    summary: 'A saved batch',
    params: named,
    answers: { 200: { description: 'The template', schema: s.template } },
    handle: async ({ params, who }, { runsheet }) => {
      const body = await runsheet.store.templates.get(who.tenant, params.name)
      if (body === undefined) throw unknown(params.name)
      return { body }
    },
  }),
  route({
    method: 'put',
    path: '/api/task-manager/templates/:name',
    operationId: 'saveTemplate',
    tag: 'Templates',
    role: 'person',
    summary: 'Saves a batch under a name',
    params: named,
    body: s.templateBody,
    answers: { 200: { description: 'The template', schema: s.template } },
    handle: async ({ params, body, who }, { runsheet }) => {
      if (body.name !== undefined && body.name !== params.name) throw invalidField('name', 'must be that of the path')
      const saved = templateOf(params.name, body.tasks)
      if (saved instanceof Refusal) throw saved
      await runsheet.store.templates.put(who.tenant, saved.name, asJson(saved))
      return { body: saved }
    },
  }),
  route({
    method: 'delete',
    path: '/api/task-manager/templates/:name',
    operationId: 'deleteTemplate',
    tag: 'Templates',
    role: 'person',
    summary: 'Forgets a saved batch',
    params: named,
    answers: { 204: { description: 'Gone' } },
    handle: async ({ params, who }, { runsheet }) => {
      if (!(await runsheet.store.templates.delete(who.tenant, params.name))) throw unknown(params.name)
      return { status: 204 }
    },
  }),
]

const asJson = (saved: Template): Json => saved as unknown as Json

const unknown = (name: string): Error => notFound('template_not_found', `There is no template ${name}.`)
