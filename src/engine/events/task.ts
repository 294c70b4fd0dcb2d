import { defineEvent } from '../core/event.ts'
import { anything, optional, shape, text } from '../core/schema/check.ts'

const task = {
  task_id: optional(text),
  task_subject: optional(text),
  task_description: optional(text),
  task_status: optional(text),
}

export const taskEvents = {
  task_created: defineEvent({
    about: 'A task was created.',
    mode: 'observe',
    payload: shape(task),
    subject: 'task_subject',
  }),
  task_completed: defineEvent({
    about:
      'A task is about to count as complete. A block means it does not, and rules see the outcome `failed`.',
    mode: 'gate',
    payload: shape({ ...task, error: optional(anything) }),
    subject: 'task_subject',
    onFailure: 'allow',
  }),
}
