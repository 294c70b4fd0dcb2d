import { everyLook, viewTests } from './views.fixture.ts'

viewTests(everyLook)
