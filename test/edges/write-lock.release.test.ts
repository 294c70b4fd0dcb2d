import { writeLock } from './write-lock.fixture.ts'

writeLock(30_000)
