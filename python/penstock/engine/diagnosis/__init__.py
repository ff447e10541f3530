"""Why a query gave no row: the names, steps, predicates and values of sample documents.

```
 query text ─► stages       a query for each step and each predicate of its paths
                 │ counted over the samples, in one pass
                 ▼
             survivors      `//SPEECH` 1138 → `[SPEAKER = 'hamlet']` 0
                 │ the first stage without any
                 ▼
        names and values    what the samples have there instead
```
"""

from penstock.engine.diagnosis.advice import Advice
from penstock.engine.diagnosis.diagnosis import Diagnosis, diagnose
from penstock.engine.diagnosis.samples import Samples

__all__ = ["Advice", "Diagnosis", "Samples", "diagnose"]
