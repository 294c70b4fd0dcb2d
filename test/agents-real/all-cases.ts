import { boundaryCases } from './boundary-cases.ts'
import { type Case, cases } from './cases.ts'
import { runCases } from './run-cases.ts'

/** Every case that `npm run test:agents` tries with each agent, in this order. */
export const allCases: readonly Case[] = [...cases, ...boundaryCases, ...runCases]
