#ifdef __cplusplus
extern "C"
#endif
    int of_c(int x);
