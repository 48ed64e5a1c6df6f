/** Scenes with a thumbnail in thumbs/, known at build time. */
declare const __THUMBS__: string[];
/** Whether ?mock is understood: not in the page that people get. */
declare const __MOCK__: boolean;
