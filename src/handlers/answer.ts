import { schema } from '../engine/core/schema/schema.ts'
import { defineHandlerType } from './handler-type.ts'

const answerSchema = schema.object({
  decision: schema.choice(['block', 'ask', 'allow'], 'What the hook answers every time it matches.'),
  reason: schema.text('Why, for operators and, without `message`, also for the model.', {
    minLength: 1,
    maxLength: 2_000,
  }),
  message: schema.optional(
    schema.text('What the model and the user read: best, what to do instead.', {
      minLength: 1,
      maxLength: 2_000,
    }),
  ),
})

export const answerHandler = defineHandlerType({
  type: 'answer',
  about: 'Gives a fixed answer: the conditions of the hook say when.',
  schema: answerSchema,
  create: () => ({
    read: ({ decision: kind, ...texts }) => ({ kind, ...texts }),
    run: ({ config }) => config,
  }),
})
