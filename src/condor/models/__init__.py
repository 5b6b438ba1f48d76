"""The model side: a model plans, looks a second time, makes arguments anew, writes the closing.

Law 1: a model is never a control. What it says is a candidate, checked like anybody's; it sets no tier,
answers no card and can only tighten an edit of a plan.
Law 2: what comes from records, tools and letters reaches it marked as data (``prompts``).
Law 3: a model that is away, busy, silent or talks rubbish is a clear error, never a guess.
Law 4: ``endpoint`` alone knows the library underneath, and ``transport`` the HTTP client below that.
"""

from condor.models.opening import Models, check_models, models_of

__all__ = ["Models", "check_models", "models_of"]
